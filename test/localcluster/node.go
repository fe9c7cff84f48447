package localcluster

import "k8s.io/client-go/rest"

// AsNode returns cfg, an administrator's, in the name of the node's kubelet: it may do
// what that may, to the pods of this node alone.
func AsNode(cfg *rest.Config, name string) *rest.Config {
	return inTheNameOf(cfg, "system:node:"+name, "system:nodes", "system:authenticated")
}

// AsNodes returns cfg, an administrator's, in the name of all nodes' kubelets: an
// administrator still, and of the group of nodes, for who writes the statuses of pods
// of many nodes.
func AsNodes(cfg *rest.Config) *rest.Config {
	return inTheNameOf(cfg, "kubelets", "system:nodes", "system:masters")
}

func inTheNameOf(cfg *rest.Config, name string, groups ...string) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.Impersonate = rest.ImpersonationConfig{UserName: name, Groups: groups}
	return cfg
}
