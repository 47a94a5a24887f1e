// bottom: the smallest values.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test of a batch it is the smallest values, each with its tag, in the order of their times
script
    stream|from().measurement('m')|window().period(10s).every(10s)|bottom(2, 'v', 'h')|httpOut('out')
write
    m,h=a v=4 0
    m,h=b v=1 3
    m,h=c v=4 6
    m,h=a v=9 10
emits bottom3
    {"columns":["time","bottom","h"],"name":"m","values":[["1970-01-01T00:00:10Z",4,"a"],["1970-01-01T00:00:10Z",1,"b"]]}

test on a stream points of one time wait for the next time, and are taken together
script
    stream|from().measurement('m')|bottom(2, 'v', 'h')|httpOut('out')
write
    m,h=a v=4 0
    m,h=b v=1 0
    m,h=c v=4 0
emits bottom2
write
    m,h=a v=9 1
emits bottom2
    {"columns":["time","bottom","h"],"name":"m","values":[["1970-01-01T00:00:00Z",1,"b"],["1970-01-01T00:00:00Z",4,"a"]]}
`);
