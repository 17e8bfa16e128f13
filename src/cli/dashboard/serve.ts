/** Serves the page of a running job. */
import { refuse } from '../../errors.ts';
import { dashboardPage } from '../../pages/dashboard/page.ts';
import type { RpcServer } from '../../rpc/server.ts';
import { pageScript } from '../../sim/report/page-script.ts';
import { isLoopback, type PageServer, servePage } from '../page-server.ts';
import { answersOf } from './answers.ts';
import type { Feed } from './feed.ts';

/** Where the page is served, and of what. */
export interface DashboardOptions {
  readonly server: RpcServer;
  /** What hears its sessions: the decision log of the server, or a part of it. */
  readonly feed: Feed;
  /** Whether the server watches over its sessions. */
  readonly watch: boolean;
  readonly port: number;
  readonly host: string;
  readonly keyFile?: string | undefined;
}

/** Refuses an address that others can reach without a key of the user's own. */
export function checkDashboard({
  dashboard,
  dashboardHost,
  dashboardKeyFile,
}: {
  readonly dashboard?: number;
  readonly dashboardHost?: string;
  readonly dashboardKeyFile?: string;
}): void {
  const beside = [
    dashboardHost !== undefined && '--dashboard-host',
    dashboardKeyFile !== undefined && '--dashboard-key-file',
  ];
  const given = beside.filter(Boolean).join(' and ');
  if (dashboard === undefined && given !== '') refuse('invalid_input', given, '--dashboard PORT beside it', 'none');
  if (dashboardHost === undefined || isLoopback(dashboardHost) || dashboardKeyFile !== undefined) return;
  const expected = '--dashboard-key-file beside --dashboard-host: others can reach this address';
  refuse('invalid_input', '--dashboard-key-file', expected, 'none');
}

/**
 * Serves the page. It reads and changes nothing.
 *
 * @throws PolicyError `invalid_input` for a key that is too short; the system's error if it cannot listen
 */
export async function serveDashboard(options: DashboardOptions): Promise<PageServer> {
  const { server, feed, watch, port, host, keyFile } = options;
  const answers = answersOf(server, feed, { watch });
  // Events come first: answers take short turns, and together a small part of the time, however many ask.
  const limits = { turnMilliseconds: 3, connections: 32, waiting: 16, share: 0.03, refusals: 20 };
  const page = { ...dashboardPage, script: await pageScript('dashboard', import.meta.url) };
  return servePage({ page, answers, port, host, tokenFile: keyFile, limits });
}
