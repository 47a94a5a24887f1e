// derivative: rate of change of a field.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test the rate is that since the point before
script
    stream|from().measurement('m')|derivative('v').unit(1s).as('rate')|httpOut('out')
write
    m v=10 0
    m v=30 10
    m v=20 20
emits derivative2
    {"columns":["time","rate","v"],"name":"m","values":[["1970-01-01T00:00:10Z",2,30]]}
    {"columns":["time","rate","v"],"name":"m","values":[["1970-01-01T00:00:20Z",-1,20]]}

test a value that falls may be left out, and is the next one to compare with
script
    stream|from().measurement('m')|derivative('v').nonNegative()|httpOut('out')
write
    m v=10 0
    m v=5 10
    m v=15 20
emits derivative2
    {"columns":["time","v"],"name":"m","values":[["1970-01-01T00:00:20Z",1]]}

test points of one time have no rate
script
    stream|from().measurement('m')|derivative('v')|httpOut('out')
write
    m v=10 0
    m v=20 0
emits derivative2
errors derivative2 1
`);
