import Type, { type Static } from 'typebox';

const closed = { additionalProperties: false };

/** The name of a secret: `secret://` and parts joined by `/`. What it holds is text, e.g. `username:password` of a BMC. */
export const SecretRef = Type.String({
  pattern: '^secret://[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$',
  maxLength: 209,
});

/** One version of a stored secret. A desired state names it by this; the text itself is asked for. */
export const SecretVersion = Type.Object(
  { secretId: Type.String({ maxLength: 64 }), version: Type.Integer({ minimum: 1 }) },
  closed,
);
export type SecretVersion = Static<typeof SecretVersion>;

/** `POST /v1/agent/secrets`: an agent asks for secrets that its desired state names, e.g. because they are newer than what it holds. */
export const SecretRequest = Type.Object(
  {
    protocol: Type.Integer(),
    secretIds: Type.Array(Type.String({ maxLength: 64 }), { minItems: 1, maxItems: 100 }),
  },
  closed,
);
export type SecretRequest = Static<typeof SecretRequest>;

/** What secrets are sealed as (`typ` of the JWE). The text inside is a `SecretContent` document. */
export const secretTyp = 'railhead-secret';

/** `sealed` is a compact JWE to the agent's sealing key over `SecretContent`. What the agent is not to have is left out. */
export const SecretAnswer = Type.Object(
  {
    protocol: Type.Integer(),
    secrets: Type.Array(Type.Object({ ...SecretVersion.properties, sealed: Type.String() }, closed)),
  },
  closed,
);
export type SecretAnswer = Static<typeof SecretAnswer>;

/** Inside the JWE: id and version too, so that nobody on the way can give one secret out for another. */
export const SecretContent = Type.Object({ ...SecretVersion.properties, text: Type.String() }, closed);
export type SecretContent = Static<typeof SecretContent>;

/** A BMC's user name and password. */
export interface Credentials {
  username: string;
  password: string;
}

/** The credentials in one line `username:password`, which only the first colon splits; undefined for any other text. */
export function parseCredentials(text: string): Credentials | undefined {
  const line = text.replace(/\r?\n$/, '');
  const colon = line.indexOf(':');
  if (colon < 1 || /[\r\n]/.test(line)) return undefined;
  return { username: line.slice(0, colon), password: line.slice(colon + 1) };
}
