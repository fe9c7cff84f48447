// Package usage measures what the containers on a node use: it reads their control groups every few
// seconds, and folds the readings to one usage per container and minute.
//
// It must not know workloads, or where usages go.
package usage
