// Messages of scripts to MQTT brokers.

export interface MqttMessage {
  /** `tcp://host:1883`, or `ssl://host:8883`. */
  readonly broker: string;
  readonly topic: string;
  readonly payload: string;
  /** At most once, at least once, exactly once. */
  readonly qos: 0 | 1 | 2;
  readonly retain: boolean;
  readonly clientId: string;
  /** Null: what the URL of the broker says. */
  readonly login: { readonly username: string; readonly password: string } | null;
  /** For the connection; 0 for the server's own limit. */
  readonly timeoutMs: number;
}

/** Resolves when the broker has the message, as far as the quality of service tells. @throws Error: refused, failed or took too long */
export type MqttService = (message: MqttMessage) => Promise<void>;
