// Members and owners of resources. They matter to sessions: a token has permissions of its own.
import { TsdbError } from "../../model/errors.ts";
import { memberPermissions, ownerPermissions, type Permission, userPermissions } from "../access/permissions.ts";
import type { RecordTypes, ResourceType } from "../store/kinds.ts";
import type { Change, Metadata } from "../store/metadata.ts";
import type { User, Users } from "./users.ts";

export type Role = "owner" | "member";
type MemberRow = RecordTypes["member"] & { readonly id: string };

/** What the first user owns beside the first organization: everything. */
const INSTANCE_ID = "0000000000000001";

/** Adds, lists and removes members and owners. */
export class Members {
  constructor(
    private readonly metadata: Metadata,
    private readonly users: Users,
  ) {}

  /** Ids of the users, in the order in which these were created. */
  heads(resourceType: ResourceType, resourceID: string, role: Role): { readonly id: string }[] {
    const sql = "select userID as id from members where resourceType = ? and resourceID = ? and role = ? order by userID";
    return this.metadata.view.all(sql, resourceType, resourceID, role);
  }

  /** Ids of those that the user has the role of. */
  resourcesOf(userID: string, resourceType: ResourceType, role: Role): string[] {
    const sql = "select resourceID as id from members where userID = ? and resourceType = ? and role = ?";
    return this.metadata.view.all<{ id: string }>(sql, userID, resourceType, role).map(({ id }) => id);
  }

  /** @throws TsdbError not_found for an unknown user, already_exists for one who is member or owner already */
  add(member: RecordTypes["member"]): Promise<User> {
    return this.metadata.change((change) => {
      const user = this.users.get(member.userID);
      if (this.find(member) !== null) throw alreadyMapped(user.id);
      change.put("member", change.newId(), member);
      return user;
    });
  }

  /** The operator, whom setup makes. */
  planInstanceOwner(change: Change, userID: string): void {
    change.put("member", change.newId(), { userID, resourceType: "instance", resourceID: INSTANCE_ID, role: "owner" });
  }

  /** Whether or not there is one. */
  remove(resourceType: ResourceType, resourceID: string, userID: string): Promise<void> {
    return this.metadata.change((change) => {
      const found = this.find({ resourceType, resourceID, userID });
      if (found !== null) change.remove("member", found.id);
    });
  }

  /** Before the resource itself goes. */
  planRemoveAll(change: Change, resourceType: ResourceType, resourceID: string): void {
    const sql = "select id from members where resourceType = ? and resourceID = ?";
    for (const { id } of this.metadata.view.all<{ id: string }>(sql, resourceType, resourceID)) change.remove("member", id);
  }

  /** What a session of the user may do. */
  permissionsOf(userID: string): Permission[] {
    const rows = this.metadata.view.all<MemberRow>("select * from members where userID = ? order by id", userID);
    return [...rows.flatMap(permissionsOfMember), ...userPermissions(userID)];
  }

  private find({ resourceType, resourceID, userID }: Omit<RecordTypes["member"], "role">): MemberRow | null {
    return this.metadata.view.get<MemberRow>(
      "select * from members where resourceType = ? and resourceID = ? and userID = ?",
      ...[resourceType, resourceID, userID],
    );
  }
}

function permissionsOfMember({ resourceType, resourceID, role }: MemberRow): Permission[] {
  if (resourceType === "orgs") return role === "owner" ? ownerPermissions(resourceID) : memberPermissions(resourceID);
  const resource = resourceType === "instance" ? { type: resourceType } : { type: resourceType, id: resourceID };
  const read: Permission = { action: "read", resource };
  return role === "owner" ? [read, { action: "write", resource }] : [read];
}

function alreadyMapped(userID: string): TsdbError {
  const message = `Unexpected error when assigning user to a resource: mapping for user ${userID} already exists`;
  return new TsdbError("already_exists", message);
}
