import Type from 'typebox';
import { closed } from './parts.ts';

export const Bmc = Type.Object(
  {
    ipmitool: Type.String({
      minLength: 1,
      default: 'ipmitool',
      description:
        "The program that drives BMCs by IPMI: Debian's package `ipmitool`, found by PATH. A site without such BMCs needs none.",
    }),
  },
  { ...closed, default: {}, description: 'How this site drives BMCs.' },
);
