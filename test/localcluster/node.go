package localcluster

import "k8s.io/client-go/rest"

// AsNode returns cfg, which must be an administrator's, impersonating a node's kubelet.
// It may do what the kubelet may do, and only to pods on this node.
func AsNode(cfg *rest.Config, name string) *rest.Config {
	return inTheNameOf(cfg, "system:node:"+name, "system:nodes", "system:authenticated")
}

// AsNodes returns cfg, which must be an administrator's, impersonating the kubelets of all
// nodes: an administrator in the group of nodes, who writes the statuses of pods of many nodes.
func AsNodes(cfg *rest.Config) *rest.Config {
	return inTheNameOf(cfg, "kubelets", "system:nodes", "system:masters")
}

func inTheNameOf(cfg *rest.Config, name string, groups ...string) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.Impersonate = rest.ImpersonationConfig{UserName: name, Groups: groups}
	return cfg
}
