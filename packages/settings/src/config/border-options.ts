// Options of the border checks of HTTP listeners, the same for all of them.
import { list } from '../option-rows.ts';

/** Options of every section that configures a listener (`BorderSettings`). */
export const BORDER_OPTIONS = {
  'allowed-hosts': list(
    'Names in the header Host to accept besides localhost, loopback addresses and the bind address. None: no others on a loopback address; on another one all, without authentication only such as nobody can register.',
  ),
  'allowed-origins': list(
    'Origins, written https://host:port, of pages other than its own that may use this API in browsers; only these get CORS headers.',
  ),
  'trusted-proxies': list(
    'Addresses and networks of proxies whose X-Forwarded-For is trusted as the address of the client: wrong passwords count for it, and logs contain it.',
  ),
};
