// Package usage serves the UsageService: what workloads request, use and need, and the reports of node
// agents.
//
// It must not know how demands are computed, or how usage is stored.
package usage
