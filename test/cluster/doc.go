// Testcluster runs a real Kubernetes cluster on one machine, for tests: etcd,
// kube-apiserver, kube-controller-manager, kube-scheduler and any number of
// nodes, which are kubelets over a simulated runtime that actuates in-place
// resizes. It needs no root, no containers, no images and no network; all of it
// is this one program, which starts itself again once for each component.
//
// It is just a cluster: it must not know anything of what is tested on it.
package main
