import type { TSchema } from 'typebox';
import { SiteConfig } from './configSchema/index.ts';

/** A node of the schema as this page reads it. */
type Field = TSchema & {
  description?: string;
  default?: unknown;
  enum?: string[];
  type?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  properties?: Record<string, Field>;
  items?: Field;
  required?: string[];
};

const introduction = `# Configuration of a site

\`bcd site --config /etc/bcd/config.toml\` reads one TOML file; \`--check\` validates it and ends. Names are camelCase, as in every other
document of Railhead. An unknown name or a wrong value is \`INVALID_CONFIG\`, and \`details.path\` names the field. The effective
values are logged at the start.

The identity of a site is not written here: \`bcd join\` leaves it in the state directory.

The least file:

\`\`\`toml
[provisioning]
interface = "prov0"
address = "10.77.0.1"
poolStart = "10.77.0.100"
poolEnd = "10.77.0.200"
\`\`\`

A site with a second interface, a network behind a relay, and a machine with an address of its own adds to it:

\`\`\`toml
[[provisioning.subnets]]
interface = "prov1"
address = "10.78.0.1"
poolStart = "10.78.0.100"
poolEnd = "10.78.0.200"

[[provisioning.subnets]]
relayed = "10.79.0.0/24"
router = "10.79.0.1"
poolStart = "10.79.0.100"
poolEnd = "10.79.0.200"

[[provisioning.hosts]]
mac = "02:00:00:00:00:01"
address = "10.78.0.20"
hostname = "rack1-7"
options = [{ number = 150, addresses = ["10.78.0.1"] }]
\`\`\`
`;

/** The text of \`docs/configuration.md\`, made from the schema. */
export function configurationPage(): string {
  const root = SiteConfig as unknown as Field;
  const { plain, parts } = split(root);
  const shown = new Set<Field>();
  return [
    introduction,
    '## At the top\n',
    table(plain, root.required ?? []),
    ...parts.flatMap(([name, field]) => section(name, field, shown)),
  ]
    .join('\n')
    .trimEnd()
    .concat('\n');
}

/** One table of the file, then the tables in it. A list of tables that stands in several places is described at the first. */
function section(path: string, field: Field, shown: Set<Field>): string[] {
  const inner = field.items ?? field;
  if (shown.has(inner)) return [];
  shown.add(inner);
  const { plain, parts } = split(inner);
  return [
    `## \`${field.items === undefined ? `[${path}]` : `[[${path}]]`}\`\n`,
    `${field.description}\n`,
    table(plain, inner.required ?? []),
    ...parts.flatMap(([name, part]) => section(`${path}.${name}`, part, shown)),
  ];
}

/** The fields that are values, with the lists of tables among them, and those that are tables of their own. */
function split({ properties = {} }: Field): { plain: [string, Field][]; parts: [string, Field][] } {
  const fields = Object.entries(properties);
  return {
    plain: fields.filter(([, field]) => field.properties === undefined),
    parts: fields.filter(([, field]) => field.properties !== undefined || isTables(field)),
  };
}

function isTables({ items }: Field): boolean {
  return items?.properties !== undefined;
}

function table(fields: [string, Field][], required: string[]): string {
  const rows = fields.map(([name, field]) => {
    const standard =
      required.includes(name) && field.default === undefined ? 'required' : shown(field.default);
    return `| \`${name}\` | ${kind(field)} | ${standard} | ${(field.description ?? '').replaceAll('|', '\\|')} |`;
  });
  return ['| name | value | default | |', '| --- | --- | --- | --- |', ...rows, ''].join('\n');
}

function kind(field: Field): string {
  if (field.enum !== undefined) return field.enum.map((value) => `\`${value}\``).join(', ');
  if (field.type === 'integer') return `number, ${field.minimum} to ${field.maximum}`;
  if (field.type === 'boolean') return '`true`, `false`';
  if (isTables(field)) return 'list of tables';
  return field.type === 'array' ? 'list of text' : 'text';
}

function shown(value: unknown): string {
  return value === undefined ? '' : `\`${JSON.stringify(value)}\``;
}
