import type { TemplateVariables } from '#central/userData/render.ts';

export const samplePins = {
  servingCaPin: `sha256/${'A'.repeat(42)}E=`,
  joinSigningPin: `sha256/${'b+/'.repeat(14)}8=`,
  joinEncryptionPin: `sha256/${'9z'.repeat(21)}0=`,
};

export const sampleVariables: TemplateVariables = {
  nodeId: 'node_01k5w',
  hostname: 'node-01k5w',
  joinToken: 'rhj_Zm9v-_bar',
  controlPlaneUrl: 'https://cp.example.com:8443',
  bcdUrl: 'https://images.example.com/bcd?X-Amz-Expires=60&X-Amz-Signature=a%2Fb$c',
  bcdSha256: 'c0ffee'.padEnd(64, '0'),
  ...samplePins,
};
