package connect

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// pathFlags are the flags whose values are paths.
var pathFlags = []string{"kubeconfig", "certificate-authority", "client-certificate", "client-key", "token-file"}

// pin makes the connection independent of what selected it: of the kubeconfig, which other programs change, and of the variables and the
// working directory, which are different where users paste the commands that they copy. Commands then have flags for all of that. It
// ignores faults, which dial reports.
func (c *Connection) pin() {
	inCluster, err := c.inCluster()
	if err != nil {
		return
	}
	pinned := map[string]string{}
	for _, name := range pathFlags {
		if path := c.flags.Lookup(name).Value.String(); path != "" {
			if absolute, err := filepath.Abs(path); err == nil {
				pinned[name] = absolute
			}
		}
	}
	c.pinned = pinned
	if !inCluster {
		if address, _, err := c.address(); err == nil {
			pinned["server"] = address
		}
		return
	}
	if account, _ := c.askAs(); account != "" {
		pinned["service-account-token"] = account
	}
	config, err := c.kube.loader().RawConfig()
	if err != nil {
		return
	}
	if c.kube.context = cmp.Or(c.kube.context, config.CurrentContext); c.kube.context != "" {
		pinned["context"] = c.kube.context
	}
	if file := c.kube.origin(&config); file != "" && pinned["kubeconfig"] == "" {
		pinned["kubeconfig"] = file
	}
}

// origin returns the file that has the context, its cluster and its user; empty if they are in several.
func (k *kubeconfigFlags) origin(config *clientcmdapi.Config) string {
	files, cluster, user := map[string]bool{}, k.cluster, k.user
	if of := config.Contexts[k.context]; of != nil {
		files[of.LocationOfOrigin] = true
		cluster, user = cmp.Or(cluster, of.Cluster), cmp.Or(user, of.AuthInfo)
	}
	if of := config.Clusters[cluster]; of != nil {
		files[of.LocationOfOrigin] = true
	}
	if of := config.AuthInfos[user]; of != nil {
		files[of.LocationOfOrigin] = true
	}
	if all := slices.Collect(maps.Keys(files)); len(all) == 1 {
		if file, err := filepath.Abs(all[0]); all[0] != "" && err == nil {
			return file
		}
	}
	return ""
}
