import Type, { type Static } from 'typebox';

/** How what happens at a BMC comes to be known: by its stream of events, by what it posts, or by asking. */
export const bmcEventsWays = ['sse', 'webhook', 'poll'] as const;
export type BmcEventsWay = (typeof bmcEventsWays)[number];

/** How a machine is, as its BMC says; `Unknown` where that does not say, `Unreachable` when it does not answer. */
export const BmcHealth = Type.Object(
  {
    health: Type.Enum(['OK', 'Warning', 'Critical', 'Unknown', 'Unreachable']),
    power: Type.Optional(Type.Enum(['on', 'off'])),
    events: Type.Optional(Type.Enum([...bmcEventsWays])),
    /** What is wrong, in the BMC's words or ours. */
    faults: Type.Array(Type.String({ maxLength: 256 }), { maxItems: 16 }),
  },
  { additionalProperties: false },
);
export type BmcHealth = Static<typeof BmcHealth>;

/** In one sentence, for timelines. */
export function healthText({ health, power, events, faults }: BmcHealth): string {
  const state = power === undefined ? '' : `, power ${power}`;
  const way = events === undefined ? '' : ` (${events})`;
  return `the BMC says ${health}${state}${way}${faults.length === 0 ? '' : `: ${faults.join('; ')}`}`;
}
