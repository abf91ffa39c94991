/** Where something listens; `host` is without brackets. */
export interface Place {
  host: string;
  port: number;
}

/** `10.77.0.1:514` or `[fd77::1]:514`, whose form the schema has checked. */
export function listenPlace(listen: string): Place {
  const colon = listen.lastIndexOf(':');
  return { host: listen.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(listen.slice(colon + 1)) };
}
