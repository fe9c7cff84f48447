// Package promql asks the questions in PromQL that rules have of their Prometheus servers, and knows which of them fail.
//
// None waits for another server, and a question that takes too long is asked last. Nothing waits for answers.
//
// It must not know what is asked about, nor the API of Prometheus.
package promql
