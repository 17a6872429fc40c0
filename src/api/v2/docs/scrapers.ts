// Operations on scraper targets.
import { LabelIdBody } from "../labels.ts";
import { ScraperBody } from "../scrapers.ts";
import { membersOf } from "./accounts.ts";
import { done, id, jsonOf, made, ok, requiring, text, type V2Operations } from "./described.ts";
import { LabelsShape, OneLabelShape, ScraperShape, ScrapersShape } from "./shapes.ts";

const tag = "Scrapers";
const ITEM = "/api/v2/scrapers/:scraperTargetID";
const about =
  "Every 60 s the server reads the metrics at `url`, in the text format of Prometheus or OpenMetrics, into the bucket. Only targets of the type `prometheus` are read.";

/** By `METHOD path`. */
export const SCRAPERS: V2Operations = {
  "GET /api/v2/scrapers": {
    tag,
    summary: "Lists scraper targets",
    query: {
      ...{ id: id("This one; may be repeated."), name: text("Of this name.") },
      ...{ orgID: id("Of this organization; goes before `org`."), org: text("Of the organization of this name.") },
    },
    answers: { ...ok("Those that the sender may read.", ScrapersShape), 404: { description: "No organization of this name." } },
  },
  "POST /api/v2/scrapers": {
    tag,
    summary: "Makes a scraper target",
    description: about,
    body: jsonOf(requiring(ScraperBody, "orgID", "bucketID")),
    answers: made("As made.", ScraperShape),
  },
  [`GET ${ITEM}`]: { tag, summary: "Shows a scraper target", answers: ok("The target.", ScraperShape) },
  [`PATCH ${ITEM}`]: {
    tag,
    summary: "Replaces a scraper target",
    description: "What the body leaves out becomes empty, but for the organization and the bucket, which stay.",
    body: jsonOf(ScraperBody),
    answers: ok("As changed.", ScraperShape),
  },
  [`DELETE ${ITEM}`]: { tag, summary: "Deletes a scraper target", answers: done("It is gone; what it wrote stays.") },
  [`GET ${ITEM}/labels`]: { tag, summary: "Lists the labels of a scraper target", answers: ok("The list.", LabelsShape) },
  [`POST ${ITEM}/labels`]: {
    tag,
    summary: "Puts a label on a scraper target",
    body: jsonOf(requiring(LabelIdBody, "labelID")),
    answers: { ...made("The label.", OneLabelShape), 422: { description: "The target has the label." } },
  },
  [`DELETE ${ITEM}/labels/:labelID`]: { tag, summary: "Takes a label off a scraper target", answers: done("It is off.") },
  ...membersOf(ITEM, tag, "a scraper target"),
};
