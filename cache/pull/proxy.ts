import { type Agent, Dispatcher, ProxyAgent } from 'undici';

/** The HTTP proxy that a site reaches its image sources through. */
export interface SourceProxy {
  /** `http://…` or `https://…`, without credentials. */
  url: string;
  /** `user:password`, shown to the proxy alone. */
  credentials?: string;
  /** Hosts that are asked directly: a name, with a dot before it also what lies below it, or an address. */
  except: readonly string[];
}

/**
 * Sends requests through the proxy (CONNECT, RFC 9110 §9.3.6: it sees host and port of a source, never what is asked or answered there), those to
 * `proxy.except` by `direct`.
 */
export function throughProxy(
  proxy: SourceProxy,
  direct: Agent,
  options: Omit<ProxyAgent.Options, 'uri' | 'token'>,
): Dispatcher {
  const token = proxy.credentials && `Basic ${Buffer.from(proxy.credentials).toString('base64')}`;
  const proxied = new ProxyAgent({ ...options, uri: proxy.url, ...(token !== undefined && { token }) });
  return new ByHost(proxied, direct, (host) => isExcepted(host, proxy.except));
}

/** Whether a source's host is among those that the proxy is not asked for. */
export function isExcepted(host: string, except: readonly string[]): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '');
  return except.some((entry) => {
    const wanted = entry.toLowerCase();
    return wanted.startsWith('.') ? name === wanted.slice(1) || name.endsWith(wanted) : name === wanted;
  });
}

/** Two ways to the world, chosen for each request: a redirect may lead from a host of the one to one of the other. */
class ByHost extends Dispatcher {
  readonly #proxied: Dispatcher;
  readonly #direct: Dispatcher;
  readonly #isDirect: (host: string) => boolean;

  constructor(proxied: Dispatcher, direct: Dispatcher, isDirect: (host: string) => boolean) {
    super();
    this.#proxied = proxied;
    this.#direct = direct;
    this.#isDirect = isDirect;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const { hostname } = new URL(String(options.origin));
    return (this.#isDirect(hostname) ? this.#direct : this.#proxied).dispatch(options, handler);
  }

  override close(): Promise<void>;
  override close(callback: () => void): void;
  override close(callback?: () => void): Promise<void> | void {
    const closed = Promise.all([this.#proxied.close(), this.#direct.close()]).then(() => {});
    return callback === undefined ? closed : void closed.then(callback);
  }

  override destroy(): Promise<void>;
  override destroy(error: Error | null): Promise<void>;
  override destroy(callback: () => void): void;
  override destroy(error: Error | null, callback: () => void): void;
  override destroy(...args: unknown[]): Promise<void> | void {
    const callback = args.find((arg) => typeof arg === 'function') as (() => void) | undefined;
    const ended = Promise.all([this.#proxied.destroy(), this.#direct.destroy()]).then(() => {});
    return callback === undefined ? ended : void ended.then(callback);
  }
}
