// Package prometheus is Prometheus as a source of usage, with the metrics of the kubelet's cAdvisor.
//
// It backfills days of usage when it is read for the first time, and then reads what is new. Unlike
// metrics.k8s.io, it knows the peak of memory in each interval, throttling, and how long
// containers waited for CPU. It tells pods with the same name apart if the series have the label id.
//
// It asks a busy Prometheus again, and knows which answers are incomplete.
//
// Its names and errors are brief, and they contain no secrets of an address or of credentials.
package prometheus
