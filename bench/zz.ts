import { leaveOut } from './scorecard/silicon/leave-out.ts';
import { readPoints } from './scorecard/silicon/points.ts';
import { kindsOfGroups, pointsFile } from './scorecard/silicon/study.ts';
import { engineAtAnyTp, onSite } from './scorecard/silicon/on-site.ts';
const { undoubted, all } = leaveOut(readPoints(pointsFile).points, kindsOfGroups.configuration);
for (const [name, list] of [['undoubted', undoubted], ['all', all]] as const) for (const n of [0,1,2,3,5]) console.log(name, n, JSON.stringify(onSite(list, n)), JSON.stringify(onSite(list, n, engineAtAnyTp)));
