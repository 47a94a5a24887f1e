// barrier: tells the nodes below that no older data follows.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test an idle group ends its window
script
    stream|from().measurement('m')|barrier().idle(5s)|window().period(10s).every(10s)|count('v')|httpOut('out')
write
    m v=1 1704067200
    m v=2 1704067201
advance 4s
emits count4
advance 16s
emits count4
    {"columns":["time","count"],"name":"m","values":[["2024-01-01T00:00:10Z",2]]}
    {"columns":["time","count"],"name":"m","values":[["2024-01-01T00:00:21Z",0]]}

test a group that is deleted begins anew
script
    stream|from().measurement('m').groupBy('h')|barrier().idle(5s).delete(TRUE)|stateCount(lambda: TRUE)|httpOut('out')
write
    m,h=a v=1 1704067200
    m,h=a v=1 1704067201
emits state_count3
    {"columns":["time","state_count","v"],"name":"m","tags":{"h":"a"},"values":[["2024-01-01T00:00:00Z",1,1]]}
    {"columns":["time","state_count","v"],"name":"m","tags":{"h":"a"},"values":[["2024-01-01T00:00:01Z",2,1]]}
advance 10s
write
    m,h=a v=1 1704067215
emits state_count3
    {"columns":["time","state_count","v"],"name":"m","tags":{"h":"a"},"values":[["2024-01-01T00:00:15Z",1,1]]}

test a point that is older than a barrier is dropped
script
    stream|from().measurement('m')|barrier().period(5s)|httpOut('out')
write
    m v=1 1704067200
advance 10s
write
    m v=2 1704067201
    m v=3 1704067212
emits barrier2
    {"columns":["time","v"],"name":"m","values":[["2024-01-01T00:00:00Z",1]]}
    {"columns":["time","v"],"name":"m","values":[["2024-01-01T00:00:12Z",3]]}
`);
