// Testcluster runs a real Kubernetes cluster on one machine, for tests: etcd,
// kube-apiserver, kube-controller-manager, kube-scheduler and any number of nodes, which
// are kubelets over a simulated runtime that actuates in-place resizes. It needs no root,
// no containers, no images and no network. It is a single program, which starts itself
// once for each component.
//
// It must not know anything about the software that is tested on it.
package main
