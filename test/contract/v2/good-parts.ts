// Parts of good requests.
import type { Good } from "../good.ts";
import { ORG, type V2World } from "./world.ts";

export type Make = (world: V2World) => Good | Promise<Good>;

/** Nothing is given. */
export const none: Make = () => ({});
/** By name and by id. */
export const org = ({ orgID }: V2World) => ({ org: ORG, orgID });
/** The path of a new one. */
export const bucket = (world: V2World) => world.freshBucket().then((id) => `/api/v2/buckets/${id}`);
/** A request at the path that is made first. */
export const at = (make: (world: V2World) => string | Promise<string>, rest: (world: V2World) => Good | Promise<Good> = none): Make => {
  return async (world) => ({ path: await make(world), ...(await rest(world)) });
};

/** Requests about members and owners. */
export function membersOf(path: string, id: (world: V2World) => Promise<string>): Record<string, Make> {
  const shown = path.replace(/:(\w+)/, "{$1}");
  const of = async (world: V2World, role: string) => `${path.replace(/:\w+/, await id(world))}/${role}s`;
  const made = ["member", "owner"].flatMap((role): [string, Make][] => [
    [`GET ${shown}/${role}s`, at((world) => of(world, role))],
    [
      `POST ${shown}/${role}s`,
      at(
        (world) => of(world, role),
        async (world) => ({ body: { id: await world.freshUser(), name: "a name" } }),
      ),
    ],
    [
      `DELETE ${shown}/${role}s/{userID}`,
      at(async (world) => {
        const [list, userID] = [await of(world, role), await world.freshUser()];
        await world.post(list, { id: userID });
        return `${list}/${userID}`;
      }),
    ],
  ]);
  return Object.fromEntries(made);
}

/** The path of a label on a new resource. */
export const labelled = async (world: V2World, of = bucket) => {
  const path = `${await of(world)}/labels`;
  const labelID = await world.freshLabel();
  await world.post(path, { labelID });
  return `${path}/${labelID}`;
};
