import { expect, test } from 'vitest';
import { groups } from '#central/groups/index.ts';
import { apiCommands } from '#cli/api.ts';

/** Methods whose command has a name of its own. */
const otherNames: Record<string, string> = {
  'nodes.update': 'label',
  'nodes.setBootQuirks': 'quirks',
  'nodes.setLoader': 'loader',
  'nodes.recordConsole': 'console',
  'nodes.endConsole': 'console',
  'sites.setInventory': 'inventory',
};

const commands = new Map(apiCommands({}).map((group) => [group.name(), group.commands]));
const methods = Object.entries(groups).flatMap(([group, methods]) =>
  Object.keys(methods).map((name) => [group, name] as const),
);

test.each(methods)('%s.%s has a command that says what it does', (group, name) => {
  const kebab = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const expected = otherNames[`${group}.${name}`] ?? kebab;
  const command = commands.get(group)?.find((one) => one.name() === expected);
  expect(command?.description()).toMatch(/\w{3}/);
});
