/** `open` and `plan` of the Python clients, typed by the policy or planner that is named. */
import { registry } from '../../src/index.ts';
import { className } from '../text.ts';
import { head } from './modules.ts';
import { filled, importLine } from './text.ts';

function methodsOf(client: 'Client' | 'AsyncClient'): string[] {
  const asynchronous = client === 'AsyncClient';
  const def = asynchronous ? 'async def' : 'def';
  const session = asynchronous ? 'AsyncSession' : 'Session';
  const wait = asynchronous ? 'await ' : '';
  const open = (policy: string, config: string, types: string) => [
    '    @overload',
    `    ${def} open(`,
    `        self, policy: ${policy}, config: ${config} | None = None,`,
    '        **options: Unpack[OpenOptions],',
    `    ) -> ${session}[${types}]: ...`,
  ];
  const plan = (planner: string, input: string, result: string) => [
    '    @overload',
    `    ${def} plan(`,
    `        self, planner: ${planner}, input: ${input}, *,`,
    '        deadline_seconds: float | None = None, timeout: float | None = None,',
    `    ) -> ${result}: ...`,
  ];
  const anything = 'Mapping[str, Any]';
  return [
    `class Typed${client}:`,
    `    """What ${asynchronous ? 'the client for asyncio' : 'the client for threads'} opens and plans."""`,
    '',
    ...registry.policies.flatMap(({ id }) => {
      const name = className(id);
      return open(`Literal["${id}"]`, `${name}Config`, `${name}Event, ${name}Decision`);
    }),
    ...open('Untyped | None = None', anything, 'Any, Any'),
    `    ${def} open(self, policy: str | None = None, config: Any = None, **options: Any) -> Any:`,
    '        """',
    '        Opens a session: a policy with its state.',
    '',
    '        :param policy: id of the policy, ``Untyped(id)`` for one of your own; may be left out beside a snapshot',
    '        :param config: its configuration; not beside a snapshot, which has its own',
    '        :param options: see :class:`OpenOptions`',
    '        """',
    `        return ${wait}self._open(policy, {"config": config, **options})`,
    '',
    ...registry.planners.flatMap(({ id }) => plan(`Literal["${id}"]`, `${className(id)}Input`, `${className(id)}Plan`)),
    ...plan('Untyped', anything, 'Any'),
    `    ${def} plan(`,
    '        self, planner: str, input: Any, *, deadline_seconds: float | None = None, timeout: float | None = None,',
    '    ) -> Any:',
    '        """',
    '        The plan of a planner for an input.',
    '',
    '        :param deadline_seconds: after these seconds a search ends with the best plan so far, and its ``cut`` says so',
    '        :param timeout: seconds after which the caller waits no more, and gets no plan',
    '        """',
    `        return ${wait}self._plan(planner, input, deadline_seconds, timeout)`,
    '',
    `    ${def} _open(self, policy: str | None, options: dict[str, Any]) -> Any:`,
    '        raise NotImplementedError',
    '',
    `    ${def} _plan(self, planner: str, input: Any, deadline: float | None, timeout: float | None) -> Any:`,
    '        raise NotImplementedError',
  ];
}

/** The module. */
export function typedClients(): string {
  const models = [
    ...registry.planners.flatMap(({ id }) => ['Input', 'Plan'].map((one) => className(id) + one)),
    ...registry.policies.flatMap(({ id }) => ['Config', 'Decision', 'Event'].map((one) => className(id) + one)),
  ];
  const lines = [
    head,
    '"""`open` and `plan`, typed by the policy or planner that is named."""',
    '',
    'from __future__ import annotations',
    '',
    importLine('typing', ['TYPE_CHECKING', 'Any', 'overload']),
    '',
    'if TYPE_CHECKING:',
    '    from collections.abc import Mapping',
    '    from typing import Literal',
    '',
    '    from typing_extensions import Unpack',
    '',
    '    from ._options import OpenOptions, Untyped',
    '    from ._tasks import AsyncSession',
    '    from ._threads import Session',
    '    from .models import (',
    ...filled([...models].sort(), '        '),
    '    )',
    '',
    '',
    ...methodsOf('Client'),
    '',
    '',
    ...methodsOf('AsyncClient'),
    '',
  ];
  return lines.join('\n');
}
