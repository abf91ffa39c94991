import { RailheadError } from '#contract/errors.ts';

/** The values that a template may use; the pins are there all three, or none. */
export interface TemplateVariables {
  nodeId: string;
  /** The node's id with `_` turned into `-`. */
  hostname: string;
  joinToken: string;
  controlPlaneUrl: string;
  bcdUrl: string;
  bcdSha256: string;
  servingCaPin?: string;
  joinSigningPin?: string;
  joinEncryptionPin?: string;
}

/** The same before it is known what the template uses: what the centre was not given is undefined. */
export type GivenVariables = { readonly [Name in keyof TemplateVariables]?: string | undefined };

/** A text with `{{name}}` placeholders, or a function of the variables. */
export type Template = string | ((variables: TemplateVariables) => string);

/**
 * Fills in a template. No value can add lines or placeholders to the document.
 * @throws RailheadError INVALID_CONFIG for a placeholder without a value, or a value of several lines or with `{{`
 */
export function renderTemplate(template: Template, given: GivenVariables): string {
  const values = Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  for (const [name, value] of Object.entries(values)) checkValue(name, value);
  return typeof template === 'string' ? filledIn(template, values) : called(template, values);
}

function filledIn(template: string, values: Readonly<Record<string, string>>): string {
  const document = template.replaceAll(/\{\{([^{}]*)\}\}/g, (_, name: string) =>
    required(values, name.trim()),
  );
  // No value has braces of its own, so what is left was in the template.
  if (!document.includes('{{')) return document;
  throw new RailheadError(
    'INVALID_CONFIG',
    'the template has {{ that begins no placeholder: write {{name}}',
    {
      path: 'userData.template',
      reason: 'placeholder',
    },
  );
}

/** Whether there are pins is a template's own question: they read as undefined when there are none. */
const pins = ['servingCaPin', 'joinSigningPin', 'joinEncryptionPin'];

function called(template: Exclude<Template, string>, values: Readonly<Record<string, string>>): string {
  const get = (_: unknown, name: string | symbol) =>
    pins.includes(String(name)) ? values[String(name)] : required(values, String(name));
  const document: unknown = template(new Proxy(values, { get }) as unknown as TemplateVariables);
  if (typeof document === 'string') return document;
  throw new RailheadError('INVALID_CONFIG', 'the template function must return a text', {
    path: 'userData.template',
    reason: 'no-text',
  });
}

function required(values: Readonly<Record<string, string>>, name: string): string {
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (value !== undefined) return value;
  throw new RailheadError(
    'INVALID_CONFIG',
    `the template uses ${name}, which has no value: set it on the centre`,
    { path: `userData.${name}` },
  );
}

function checkValue(name: string, value: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (!/[\u0000-\u001f\u007f\u0085\u2028\u2029]|\{\{/.test(value)) return;
  throw new RailheadError('INVALID_CONFIG', `${name} must be a single line without {{`, {
    path: `userData.${name}`,
  });
}
