import { constants } from 'node:crypto';
import type { ServerOptions } from 'node:https';

/**
 * How every TLS listener of ours speaks: TLS 1.3 and nothing older, so that there is no choice of weak ciphers or of renegotiation
 * (RFC 8446). Nothing is resumed: each connection shows its certificates anew. Whether they still stand is asked at each request.
 */
export const modernTls: Pick<ServerOptions, 'minVersion' | 'secureOptions' | 'handshakeTimeout'> = {
  minVersion: 'TLSv1.3',
  secureOptions: constants.SSL_OP_NO_TICKET,
  handshakeTimeout: 10_000, // Who connects and says nothing is cut off.
};
