// The flags of users and roles.
import type { Flag } from "../flag.ts";

const GROUP = "Users (v3)";

export const USER_FLAGS = [
  {
    name: "without-user-auth",
    group: GROUP,
    value: null,
    help: "`false`: users sign in by name and password, or by an identity provider, beside tokens. A preview.",
    default: "true",
    aliases: ["INFLUXDB3_WITHOUT_USER_AUTH", "INFLUXDB3_ENTERPRISE_WITHOUT_USER_AUTH"],
  },
  {
    name: "user-auth-type",
    group: GROUP,
    value: "TYPES",
    help: "How users sign in: basic (name and password), oauth (identity provider), both separated by a comma, or none.",
    default: null,
    defaultNote: "with --without-user-auth false: basic, and oauth with --oauth-issuer",
    aliases: ["INFLUXDB3_USER_AUTH_TYPE", "INFLUXDB3_ENTERPRISE_USER_AUTH_TYPE"],
  },
  {
    name: "jwt-private-key",
    group: GROUP,
    value: "FILE",
    help: "RSA key that signs the tokens of users: a PEM file (PKCS#1 or PKCS#8), or by environment the PEM itself. Without it one is made beside the data.",
    default: null,
    isSecret: true,
    aliases: ["INFLUXDB3_JWT_PRIVATE_KEY", "INFLUXDB3_ENTERPRISE_JWT_PRIVATE_KEY"],
  },
  {
    name: "jwt-key-id",
    group: GROUP,
    value: "ID",
    help: "Id of the key in the tokens (`kid`).",
    default: null,
    defaultNote: "the key's thumbprint",
    aliases: ["INFLUXDB3_JWT_KEY_ID", "INFLUXDB3_ENTERPRISE_JWT_KEY_ID"],
  },
  {
    name: "jwt-issuer",
    group: GROUP,
    value: "ISSUER",
    help: "Issuer in the tokens (`iss`).",
    default: "influxdb3-enterprise",
    aliases: ["INFLUXDB3_JWT_ISSUER", "INFLUXDB3_ENTERPRISE_JWT_ISSUER"],
  },
  {
    name: "jwt-default-ttl-seconds",
    group: GROUP,
    value: "SECONDS",
    help: "How long a user's token is valid; a refresh token gets the next one, for 14 days.",
    default: "3600",
    aliases: ["INFLUXDB3_JWT_DEFAULT_TTL_SECONDS", "INFLUXDB3_ENTERPRISE_JWT_DEFAULT_TTL_SECONDS"],
  },
  {
    name: "oauth-issuer",
    group: GROUP,
    value: "URL",
    help: "Identity provider (OpenID Connect) that users sign in by, with authorization code and PKCE.",
    default: null,
  },
  { name: "oauth-client-id", group: GROUP, value: "ID", help: "What the provider calls this server.", default: null },
  {
    name: "oauth-client-secret",
    group: GROUP,
    value: "SECRET",
    help: "Its secret; by environment, because flags are seen by others. Without one the client is public.",
    default: null,
    isSecret: true,
  },
  {
    name: "oauth-scopes",
    group: GROUP,
    value: "SCOPES",
    help: "What the provider is asked for, separated by spaces; has openid.",
    default: "openid",
  },
  {
    name: "audit-log-retention",
    group: GROUP,
    value: "DURATION",
    help: "How long system.audit_log keeps who signed in, and who changed users and tokens.",
    default: "90d",
  },
] as const satisfies readonly Flag[];
