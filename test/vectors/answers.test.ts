// Some of the recorded requests: answers.long.test.ts asks them all.
import { recordedAnswers } from "./recorded-answers.ts";

recordedAnswers(24);
