// Packages that send events to systems that manage incidents.
import { FluxError } from "../../values/flux-error.ts";
import type { NativeBody } from "../native-call.ts";
import { senderPackage } from "./endpoint.ts";

/** `kind:name` texts as the JSON that the API of alerts takes. @throws FluxError */
const respondersToJSON: NativeBody = (call) => {
  const responders = call.strings("v").map((item) => {
    const [, type, name] = /^(user|team|escalation|schedule):(.*)$/s.exec(item) ?? [];
    if (type === undefined) {
      throw new FluxError(`unsupported responder "${item}", it must start with one of ['user:','team:','escalation:','schedule:']`);
    }
    return type === "user" ? { type, username: name } : { type, name };
  });
  return JSON.stringify(responders);
};

export const OPSGENIE = senderPackage({
  path: "contrib/sranka/opsgenie",
  name: "opsgenie",
  imports: ["strings"],
  source: `
builtin respondersToJSON : (v: [string]) => string
_json = (v) => string(v: json.encode(v: v))
_cut = (v, max, otherwise="") => {
    text = if v == "" then otherwise else v
    return _json(v: if strings.strlen(v: text) > max then strings.substring(v: text, start: 0, end: max) else text)
}
sendAlert = (url="https://api.opsgenie.com/v2/alerts", apiKey, message, alias="", description="", priority="P3", responders=[], tags=[], entity="", actions=[], visibleTo=[], details="{}") => {
    members =
        "\\"message\\":" + _cut(v: message, max: 130) + ",\\"alias\\":" + _cut(v: alias, max: 512, otherwise: message)
            + ",\\"description\\":" + _cut(v: description, max: 15000) + ",\\"priority\\":" + _cut(v: priority, max: 2)
            + ",\\"responders\\":" + respondersToJSON(v: responders) + ",\\"visibleTo\\":" + respondersToJSON(v: visibleTo)
            + ",\\"actions\\":" + _json(v: actions) + ",\\"tags\\":" + _json(v: tags)
            + ",\\"details\\":\${details},\\"entity\\":" + _cut(v: entity, max: 512)
    return
        http.post(
            url: url,
            headers: {"Content-Type": "application/json; charset=utf-8", "Authorization": "GenieKey " + apiKey},
            data: bytes(v: "{" + members + "}"),
        )
}
`,
  endpoint: {
    parameters: 'url="https://api.opsgenie.com/v2/alerts", apiKey, entity=""',
    send: `sendAlert(
                    url: url,
                    apiKey: apiKey,
                    entity: entity,
                    message: message.message,
                    alias: message.alias,
                    description: message.description,
                    priority: message.priority,
                    responders: message.responders,
                    tags: message.tags,
                    actions: message.actions,
                    visibleTo: message.visibleTo,
                    details: message.details,
                )`,
  },
  natives: { respondersToJSON },
});

export const SENSU = senderPackage({
  path: "contrib/sranka/sensu",
  name: "sensu",
  source: `
builtin toSensuName : (v: string) => string
event = (url, apiKey, checkName, text, handlers=[], status=0, state="", namespace="default", entityName="influxdb") =>
    http.post(
        url: url + "/api/core/v2/namespaces/" + namespace + "/events",
        headers: {"Content-Type": "application/json; charset=utf-8", "Authorization": "Key " + apiKey},
        data:
            json.encode(
                v: {
                    entity: {entity_class: "proxy", metadata: {name: toSensuName(v: entityName)}},
                    check: {
                        output: text,
                        state: if state == "" then if status == 0 then "passing" else "failing" else state,
                        status: status,
                        handlers: handlers,
                        interval: 60,
                        metadata: {name: toSensuName(v: checkName)},
                    },
                },
            ),
    )
`,
  endpoint: {
    columns: ["_sent"],
    parameters: 'url, apiKey, handlers=[], namespace="default", entityName="influxdb"',
    send: `event(
                    url: url,
                    apiKey: apiKey,
                    checkName: message.checkName,
                    text: message.text,
                    status: message.status,
                    handlers: handlers,
                    namespace: namespace,
                    entityName: entityName,
                )`,
  },
  natives: { toSensuName: (call) => call.string("v").replace(/[^a-zA-Z0-9_.-]/gu, "_") || "_" },
});

export const VICTOROPS = senderPackage({
  path: "contrib/bonitoo-io/victorops",
  name: "victorops",
  source: `
alert = (url, messageType, entityID="", entityDisplayName="", stateMessage="", timestamp=now(), monitoringTool="InfluxDB") =>
    http.post(
        url: url,
        headers: {"Content-Type": "application/json"},
        data:
            json.encode(
                v: {
                    message_type: messageType,
                    entity_id: entityID,
                    entity_display_name: entityDisplayName,
                    state_message: stateMessage,
                    state_start_time: uint(v: timestamp) / uint(v: 1000000000),
                    monitoring_tool: monitoringTool,
                },
            ),
    )
`,
  endpoint: {
    parameters: 'url, monitoringTool="InfluxDB"',
    send: `alert(
                    url: url,
                    monitoringTool: monitoringTool,
                    messageType: message.messageType,
                    entityID: message.entityID,
                    entityDisplayName: message.entityDisplayName,
                    stateMessage: message.stateMessage,
                    timestamp: message.timestamp,
                )`,
  },
});

export const ALERTA = senderPackage({
  path: "contrib/bonitoo-io/alerta",
  name: "alerta",
  imports: ["strings"],
  source: `
alert = (url, apiKey, resource, event, environment="", severity, service=[], group="", value="", text="", tags=[], attributes, origin="InfluxDB", type="", timestamp=now()) =>
    http.post(
        url: url,
        headers: {"Content-Type": "application/json", "Authorization": "Key " + apiKey},
        data:
            json.encode(
                v: {
                    resource: resource,
                    event: event,
                    environment: environment,
                    severity: severity,
                    service: service,
                    group: group,
                    value: value,
                    text: text,
                    tags: tags,
                    attributes: attributes,
                    origin: origin,
                    type: type,
                    createTime: strings.substring(v: string(v: timestamp), start: 0, end: 23) + "Z",
                },
            ),
    )
`,
  endpoint: {
    parameters: 'url, apiKey, environment="", origin=""',
    send: `alert(
                    url: url,
                    apiKey: apiKey,
                    environment: environment,
                    origin: origin,
                    resource: message.resource,
                    event: message.event,
                    severity: message.severity,
                    service: message.service,
                    group: message.group,
                    value: message.value,
                    text: message.text,
                    tags: message.tags,
                    attributes: message.attributes,
                    type: message.type,
                    timestamp: message.timestamp,
                )`,
  },
});

const ZENOSS_OPTIONS = 'username="", password="", apiKey="", action="EventsRouter", method="add_event", type="rpc", tid=1';

export const ZENOSS = senderPackage({
  path: "contrib/bonitoo-io/zenoss",
  name: "zenoss",
  source: `
event = (url, ${ZENOSS_OPTIONS}, summary="", device="", component="", severity, eventClass="", eventClassKey="", collector="", message="") => {
    data =
        json.encode(
            v: {
                action: action,
                method: method,
                type: type,
                tid: tid,
                data: [
                    {
                        summary: summary,
                        device: device,
                        component: component,
                        severity: severity,
                        evclass: eventClass,
                        evclasskey: eventClassKey,
                        collector: collector,
                        message: message,
                    },
                ],
            },
        )
    return
        if apiKey == "" then
            http.post(
                url: url,
                headers: {"Content-Type": "application/json", "Authorization": http.basicAuth(u: username, p: password)},
                data: data,
            )
        else
            http.post(url: url, headers: {"Content-Type": "application/json", "z-api-key": apiKey}, data: data)
}
`,
  endpoint: {
    parameters: `url, ${ZENOSS_OPTIONS}`,
    send: `event(
                    url: url,
                    username: username,
                    password: password,
                    apiKey: apiKey,
                    action: action,
                    method: method,
                    type: type,
                    tid: tid,
                    summary: message.summary,
                    device: message.device,
                    component: message.component,
                    severity: message.severity,
                    eventClass: message.eventClass,
                    eventClassKey: message.eventClassKey,
                    collector: message.collector,
                    message: message.message,
                )`,
  },
});

export const SERVICENOW = senderPackage({
  path: "contrib/bonitoo-io/servicenow",
  name: "servicenow",
  imports: ["dict", "experimental/record"],
  source: `
_severities = ["critical": "1", "major": "2", "minor": "3", "warning": "4", "info": "5", "clear": "0"]
event = (url, username, password, source="Flux", node="", metricType="", resource="", metricName="", messageKey="", description, severity, additionalInfo=record.any) =>
    http.post(
        url: url,
        headers: {"Content-Type": "application/json", "Authorization": http.basicAuth(u: username, p: password)},
        data:
            json.encode(
                v: {
                    records: [
                        {
                            source: source,
                            node: node,
                            type: metricType,
                            resource: resource,
                            metric_name: metricName,
                            message_key: messageKey,
                            description: description,
                            severity: dict.get(dict: _severities, key: string(v: severity), default: ""),
                            additional_info:
                                if additionalInfo == record.any then "" else string(v: json.encode(v: additionalInfo)),
                        },
                    ],
                },
            ),
    )
`,
  endpoint: {
    parameters: 'url, username, password, source="Flux"',
    send: `event(
                    url: url,
                    username: username,
                    password: password,
                    source: source,
                    node: message.node,
                    metricType: message.metricType,
                    resource: message.resource,
                    metricName: message.metricName,
                    messageKey: message.messageKey,
                    description: message.description,
                    severity: message.severity,
                    additionalInfo: record.get(r: message, key: "additionalInfo", default: record.any),
                )`,
  },
});

export const BIGPANDA = senderPackage({
  path: "contrib/rhajek/bigpanda",
  name: "bigpanda",
  imports: ["dict", "strings"],
  source: `
option defaultUrl = "https://api.bigpanda.io/data/v2/alerts"
option defaultTokenPrefix = "Bearer"
_statuses = ["crit": "critical", "warn": "warning", "info": "ok", "ok": "ok"]
statusFromLevel = (level) => dict.get(dict: _statuses, key: strings.toLower(v: level), default: "critical")
sendAlert = (url, token, appKey, status, rec) =>
    http.post(
        url: url,
        headers: {
            "Content-Type": "application/json; charset=utf-8",
            "Authorization": defaultTokenPrefix + " " + token,
        },
        data: json.encode(v: {rec with app_key: appKey, status: status}),
    )
`,
  endpoint: {
    parameters: "url=defaultUrl, token, appKey",
    send: "sendAlert(url: url, token: token, appKey: appKey, status: message.status, rec: message)",
  },
});
