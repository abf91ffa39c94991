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
`;

/** The text of \`docs/configuration.md\`, made from the schema. */
export function configurationPage(): string {
  const root = SiteConfig as unknown as Field;
  const fields = Object.entries(root.properties ?? {});
  const plain = fields.filter(([, field]) => field.properties === undefined);
  const sections = fields.filter(([, field]) => field.properties !== undefined);
  return [
    introduction,
    '## At the top\n',
    table(plain, root.required ?? []),
    ...sections.flatMap(([name, field]) => [
      `## \`[${name}]\`\n`,
      `${field.description}\n`,
      table(Object.entries(field.properties ?? {}), field.required ?? []),
    ]),
  ]
    .join('\n')
    .trimEnd()
    .concat('\n');
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
  return field.type === 'array' ? 'list of text' : 'text';
}

function shown(value: unknown): string {
  return value === undefined ? '' : `\`${JSON.stringify(value)}\``;
}
