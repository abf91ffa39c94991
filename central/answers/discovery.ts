import Type from 'typebox';
import { SeenMachine } from '#contract/seenMachine.ts';
import { pageSchema } from '../api/cursor.ts';

const DiscoveredMachine = Type.Object({
  siteId: Type.String(),
  ...SeenMachine.properties,
  /** The node that has one of its hardware addresses. */
  nodeId: Type.Optional(Type.String()),
});

export const discovery = { list: pageSchema(DiscoveredMachine) };
