// Package manifests plans the pods that manifests would create, with the assumptions of a request. The
// service plans does so for callers, and resizectl for users without a server.
//
// It must not know the cluster or its clients, like package values.
package manifests
