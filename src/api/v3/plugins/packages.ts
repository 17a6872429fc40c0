// POST /api/v3/configure/plugin_environment/…: packages that plugins import.
import { t } from "elysia";
import { operation } from "../../docs/operation.ts";
import { BodyReader } from "../../request/body.ts";
import { readJsonBody } from "../../request/json-body.ts";
import type { AppServices } from "../../services.ts";
import { Routes } from "../../shared/route.ts";
import { configure, configureAnswers } from "../configure/configure-route.ts";

const PATH = "/api/v3/configure/plugin_environment";
const PACKAGES_MAX = 1000;

const PackagesBody = t.Object({
  packages: t.Array(t.String(), { maxItems: PACKAGES_MAX, description: 'Names, which may have versions: "scipy==1.9.0".' }),
});
const RequirementsBody = t.Object({
  requirements_location: t.String({ description: "Path of a requirements file, relative to --plugin-dir or absolute." }),
});

const ANSWERS = configureAnswers({
  200: "They are installed.",
  400: "The body cannot be understood, or installing failed: the body has the output of the package manager.",
  403: "An admin token is required, or the server was started with --package-manager disabled.",
  500: "The server has no --plugin-dir, or no Python.",
});

export const pluginPackageRoutes = (services: AppServices) => {
  const reader = new BodyReader(services.maxRequestBytes, services.now);
  return new Routes(services.access)
    .post(
      `${PATH}/install_packages`,
      operation({
        tag: "Processing engine",
        access: "admin",
        summary: "Install packages for plugins",
        description: "Answers when they are installed.",
        body: { "application/json": PackagesBody },
        answers: ANSWERS,
      }),
      (call) =>
        configure(services, call, 200, async () => {
          const { packages } = await readJsonBody(PackagesBody, call.request, reader);
          call.server?.timeout(call.request, 0);
          await services.plugins(call.caller).installPackages(packages);
        }),
    )
    .post(
      `${PATH}/install_requirements`,
      operation({
        tag: "Processing engine",
        access: "admin",
        summary: "Install the packages of a requirements file",
        description: "Answers when they are installed.",
        body: { "application/json": RequirementsBody },
        answers: ANSWERS,
      }),
      (call) =>
        configure(services, call, 200, async () => {
          const { requirements_location: location } = await readJsonBody(RequirementsBody, call.request, reader);
          call.server?.timeout(call.request, 0);
          await services.plugins(call.caller).installRequirements(location);
        }),
    );
};
