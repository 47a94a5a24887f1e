// Options of the border checks of HTTP listeners, the same for all of them.
import { list } from '../option-rows.ts';

/** Options of every section that configures a listener (`BorderSettings`). */
export const BORDER_OPTIONS = {
  'allowed-hosts': list(
    'Names in the header Host that are served besides localhost, loopback addresses and the bind address. None: no others on a loopback address; on another one all, without authentication only such as nobody can register.',
  ),
  'allowed-origins': list(
    'Origins, written https://host:port, of pages that browsers may let use this API besides its own; only these get CORS headers.',
  ),
  'trusted-proxies': list(
    'Addresses and networks of proxies whose X-Forwarded-For says where a client is: wrong passwords count for its address, and it stands in logs.',
  ),
};
