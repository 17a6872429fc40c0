// Routes that the vendor offers with its upgraded storage engine alone. Files are the same here with and without: the flag only says that
// clients may rely on them.
import { TsdbError } from "../../model/errors.ts";
import type { AppServices } from "../services.ts";

/** @throws TsdbError unavailable without --use-pacha-tree */
export function requireUpgradedEngine({ hasUpgradedEngine }: Pick<AppServices, "hasUpgradedEngine">): void {
  if (hasUpgradedEngine) return;
  throw new TsdbError("unavailable", "the upgraded storage engine is not enabled: start the server with --use-pacha-tree");
}
