// mean: the arithmetic mean.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test of a batch it is the arithmetic mean
script
    stream|from().measurement('m')|window().period(10s).every(10s)|mean('v')|httpOut('out')
write
    m,h=a v=4 0
    m,h=b v=1 3
    m,h=c v=4 6
    m,h=a v=9 10
emits mean3
    {"columns":["time","mean"],"name":"m","values":[["1970-01-01T00:00:10Z",3]]}

test on a stream points of one time wait for the next time, and are taken together
script
    stream|from().measurement('m')|mean('v')|httpOut('out')
write
    m,h=a v=4 0
    m,h=b v=1 0
    m,h=c v=4 0
emits mean2
write
    m,h=a v=9 1
emits mean2
    {"columns":["time","mean"],"name":"m","values":[["1970-01-01T00:00:00Z",3]]}
`);
