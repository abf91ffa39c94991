import Type from 'typebox';
import { durationPattern } from '#contract/durations.ts';
import { closed } from './parts.ts';

export const Bmc = Type.Object(
  {
    ipmitool: Type.String({
      minLength: 1,
      default: 'ipmitool',
      description:
        "The program that drives BMCs by IPMI: Debian's package `ipmitool`, found by PATH. A site without such BMCs needs none.",
    }),
    healthEvery: Type.String({
      pattern: durationPattern,
      default: '5m',
      description:
        'How often each BMC is asked for power and health; the times are spread, and what changes is told to the centre.',
    }),
  },
  { ...closed, default: {}, description: 'How this site drives BMCs.' },
);
