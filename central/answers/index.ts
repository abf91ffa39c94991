import Type, { type TSchema } from 'typebox';
import { audit, secrets, tenants, tokens } from './access.ts';
import { images, profiles } from './catalog.ts';
import { discovery } from './discovery.ts';
import { nodes, pools, sites } from './machines.ts';
import { metal, workflows } from './workflows.ts';

/** What each method answers, by group and name. Answers may get further fields: clients pass over what they do not know. */
export const answers: Readonly<Record<string, Readonly<Record<string, TSchema>>>> = {
  audit,
  discovery,
  images,
  metal,
  nodes,
  pools,
  profiles,
  secrets,
  sites,
  tenants,
  tokens,
  workflows,
};

/** The whole answer of a method; of one that `answers` does not list, nothing is said about its data. */
export function answerSchema(group: string, name: string): TSchema {
  const data = answers[group]?.[name] ?? Type.Unknown();
  return Type.Object({ data }, { additionalProperties: false });
}
