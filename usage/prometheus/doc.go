// Package prometheus is Prometheus as a source of usage, with the metrics of the kubelet's cAdvisor.
//
// It backfills days of usage when it is read for the first time, and then reads what is new. Unlike
// metrics.k8s.io, it knows the peak of memory in each interval, throttling, and how long
// containers waited for CPU.
package prometheus
