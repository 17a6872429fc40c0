// Packages that send messages to rooms and people.
import { FluxError } from "../../values/flux-error.ts";
import { senderPackage } from "./endpoint.ts";

/** `good`, `warning`, `danger`, or `#` and up to six hexadecimal digits. @throws FluxError */
function colorOf(color: string): string {
  if (["good", "warning", "danger"].includes(color)) return color;
  if (!color.startsWith("#")) throw new FluxError("could not parse color string");
  const digits = color.slice(1);
  if (!/^[+-]?[0-9a-fA-F]+$/.test(digits)) {
    throw new FluxError(`strconv.ParseInt: parsing ${JSON.stringify(digits)}: invalid syntax`);
  }
  const value = Number.parseInt(digits, 16);
  if (value < 0 || value > 0xffffff) throw new FluxError("could not parse color string");
  return color;
}

export const SLACK = senderPackage({
  path: "slack",
  name: "slack",
  source: `
builtin validateColorString : (color: string) => string
option defaultURL = "https://slack.com/api/chat.postMessage"
message = (url=defaultURL, token="", channel, text, color) =>
    http.post(
        url: url,
        headers: {"Content-Type": "application/json", "Authorization": "Bearer " + token},
        data:
            json.encode(
                v: {
                    channel: channel,
                    attachments: [{text: string(v: text), color: validateColorString(color: color), mrkdwn_in: ["text"]}],
                },
            ),
    )
_send = message
`,
  endpoint: {
    parameters: 'url=defaultURL, token=""',
    send: "_send(url: url, token: token, channel: message.channel, text: message.text, color: message.color)",
  },
  natives: { validateColorString: (call) => colorOf(call.string("color")) },
});

export const TELEGRAM = senderPackage({
  path: "contrib/sranka/telegram",
  name: "telegram",
  source: `
option defaultURL = "https://api.telegram.org/bot"
option defaultParseMode = "MarkdownV2"
option defaultDisableWebPagePreview = false
option defaultSilent = true
message = (url=defaultURL, token, channel, text, parseMode=defaultParseMode, disableWebPagePreview=defaultDisableWebPagePreview, silent=defaultSilent) =>
    http.post(
        url: url + token + "/sendMessage",
        headers: {"Content-Type": "application/json; charset=utf-8"},
        data:
            json.encode(
                v: {
                    chat_id: channel,
                    text: text,
                    parse_mode: parseMode,
                    disable_web_page_preview: disableWebPagePreview,
                    disable_notification: silent,
                },
            ),
    )
_send = message
`,
  endpoint: {
    parameters: "url=defaultURL, token, parseMode=defaultParseMode, disableWebPagePreview=defaultDisableWebPagePreview",
    send: `_send(
                    url: url,
                    token: token,
                    channel: message.channel,
                    text: message.text,
                    silent: message.silent,
                    parseMode: parseMode,
                    disableWebPagePreview: disableWebPagePreview,
                )`,
  },
});

export const DISCORD = senderPackage({
  path: "contrib/chobbs/discord",
  name: "discord",
  source: `
option discordURL = "https://discordapp.com/api/webhooks/"
send = (webhookToken, webhookID, username, content, avatar_url="") =>
    http.post(
        url: discordURL + webhookID + "/" + webhookToken,
        headers: {"Content-Type": "application/json"},
        data: json.encode(v: {username: username, content: content, avatar_url: avatar_url}),
    )
`,
  endpoint: {
    parameters: 'webhookToken, webhookID, username, avatar_url=""',
    send: `send(
                    webhookToken: webhookToken,
                    webhookID: webhookID,
                    username: username,
                    avatar_url: avatar_url,
                    content: message.content,
                )`,
  },
});

export const TEAMS = senderPackage({
  path: "contrib/sranka/teams",
  name: "teams",
  imports: ["strings"],
  source: `
option summaryCutoff = 70
_quoted = (v) => string(v: json.encode(v: v))
message = (url, title, text, summary="") => {
    whole = if summary == "" then text else summary
    short =
        if strings.strlen(v: whole) > summaryCutoff then
            strings.substring(v: whole, start: 0, end: summaryCutoff) + "..."
        else
            whole
    members =
        "\\"@type\\":\\"MessageCard\\",\\"@context\\":\\"http://schema.org/extensions\\","
            + "\\"title\\":" + _quoted(v: title) + ",\\"text\\":" + _quoted(v: text) + ",\\"summary\\":" + _quoted(v: short)
    return http.post(url: url, headers: {"Content-Type": "application/json; charset=utf-8"}, data: bytes(v: "{" + members + "}"))
}
_send = message
`,
  endpoint: {
    parameters: "url",
    send: `_send(
                    url: url,
                    title: message.title,
                    text: message.text,
                    summary: if exists message.summary then message.summary else "",
                )`,
  },
});

export const WEBEX_TEAMS = senderPackage({
  path: "contrib/sranka/webexteams",
  name: "webexteams",
  source: `
message = (url="https://webexapis.com", token, roomId, text, markdown) =>
    http.post(
        url: url + "/v1/messages",
        headers: {"Content-Type": "application/json; charset=utf-8", "Authorization": "Bearer " + token},
        data: json.encode(v: {roomId: roomId, text: text, markdown: markdown}),
    )
_send = message
`,
  endpoint: {
    parameters: 'url="https://webexapis.com", token',
    send: "_send(url: url, token: token, roomId: message.roomId, text: message.text, markdown: message.markdown)",
  },
});

export const PUSHBULLET = senderPackage({
  path: "pushbullet",
  name: "pushbullet",
  source: `
option defaultURL = "https://api.pushbullet.com/v2/pushes"
pushData = (url=defaultURL, token="", data) =>
    http.post(url: url, headers: {"Content-Type": "application/json", "Access-Token": token}, data: json.encode(v: data))
pushNote = (url=defaultURL, token="", title, text) =>
    pushData(url: url, token: token, data: {type: "note", title: title, body: text})
`,
  endpoint: {
    parameters: 'url=defaultURL, token=""',
    send: "pushNote(url: url, token: token, title: message.title, text: message.text)",
  },
});
