import Type from 'typebox';
import { closed } from './parts.ts';

export const Central = Type.Object(
  {
    url: Type.Optional(
      Type.String({
        pattern: '^https://[^/]+$',
        description: 'Base URL of the centre; without it the one that `bcd join` was given.',
      }),
    ),
  },
  { ...closed, default: {}, description: 'The link to the centre.' },
);
