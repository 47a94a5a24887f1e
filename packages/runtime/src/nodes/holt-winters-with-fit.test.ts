// holtWintersWithFit: a forecast and the fit before it, with the numbers that InfluxDB was recorded
// to give for the same points.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test with fit it begins at the first point
script
    stream|from().measurement('price')|window().periodCount(16).everyCount(16)|holtWintersWithFit('v', 3, 0, 1m)|httpOut('out')
write
    price,sym=aa v=10,i=100i 1590969600
    price,sym=aa v=12,i=120i 1590969660
    price,sym=aa v=11,i=110i 1590969720
    price,sym=aa v=15,i=150i 1590969780
    price,sym=aa v=15,i=150i 1590969840
    price,sym=aa v=18,i=180i 1590969900
    price,sym=aa v=14,i=140i 1590969960
    price,sym=aa v=13,i=130i 1590970020
    price,sym=aa v=17,i=170i 1590970080
    price,sym=aa v=21,i=210i 1590970140
    price,sym=aa v=20,i=200i 1590970200
    price,sym=aa v=26,i=260i 1590970260
    price,sym=aa v=24,i=240i 1590970320
    price,sym=aa v=25,i=250i 1590970380
    price,sym=aa v=30,i=300i 1590970440
    price,sym=aa v=28,i=280i 1590970500
emits holtWinters3
    {"columns":["time","holtWinters"],"name":"price","values":[["2020-06-01T00:00:00Z",10],["2020-06-01T00:01:00Z",11.608629494766646],["2020-06-01T00:02:00Z",12.491321469751313],["2020-06-01T00:03:00Z",13.3230375453987],["2020-06-01T00:04:00Z",14.182329275675206],["2020-06-01T00:05:00Z",15.097041551458053],["2020-06-01T00:06:00Z",16.083235581795442],["2020-06-01T00:07:00Z",17.152568053162632],["2020-06-01T00:08:00Z",18.315042271143856],["2020-06-01T00:09:00Z",19.580256572401378],["2020-06-01T00:10:00Z",20.958029774316156],["2020-06-01T00:11:00Z",22.45874323048335],["2020-06-01T00:12:00Z",24.093550109466385],["2020-06-01T00:13:00Z",25.874523261024493],["2020-06-01T00:14:00Z",27.81477667165485],["2020-06-01T00:15:00Z",29.928578102305906],["2020-06-01T00:16:00Z",32.23146201132003],["2020-06-01T00:17:00Z",34.740347704758726],["2020-06-01T00:18:00Z",37.4736656285115]]}
`);
