import './reflectMetadata.ts';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

x509.cryptoProvider.set(webcrypto as never);

/** The algorithm of every certificate of the project: what TLS in Node and in firmware takes. */
export const certificateAlgorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

export { x509 };
