import { RailheadError } from '#contract/errors.ts';

/** What a template may use. A variable that the centre was not given is undefined. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** A text with `{{name}}` placeholders, or a function of the variables. */
export type Template = string | ((variables: Readonly<Record<string, string>>) => string);

/**
 * Fills in a template. No value can add lines or placeholders to the document.
 * @throws RailheadError INVALID_CONFIG for a placeholder without a value, or a value of several lines or with `{{`
 */
export function renderTemplate(template: Template, variables: Variables): string {
  for (const [name, value] of Object.entries(variables)) if (value !== undefined) checkValue(name, value);
  if (typeof template === 'string')
    return template.replaceAll(/\{\{\s*([A-Za-z0-9]+)\s*\}\}/g, (_, name: string) =>
      required(variables, name),
    );
  return template(new Proxy({}, { get: (_, name) => required(variables, String(name)) }));
}

function required(variables: Variables, name: string): string {
  const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
  if (value !== undefined) return value;
  throw new RailheadError(
    'INVALID_CONFIG',
    `the template uses ${name}, which has no value: set it on the centre`,
    {
      path: `userData.${name}`,
    },
  );
}

function checkValue(name: string, value: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (!/[\u0000-\u001f\u007f\u0085\u2028\u2029]|\{\{/.test(value)) return;
  throw new RailheadError('INVALID_CONFIG', `${name} must be a single line without {{`, {
    path: `userData.${name}`,
  });
}
