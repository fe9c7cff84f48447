package connect

import (
	"cmp"
	"os"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Identity is where calls go, and as whom, as far as flags, environment and kubeconfig say so.
type Identity struct {
	// Context is the context of the kubeconfig; empty if a server is called by its address.
	Context string
	// Server is the address of the server, or its Service.
	Server string
	// Account is the user of the kubeconfig, a ServiceAccount, or where the credentials are.
	Account string
}

// identity returns where this connection leads now.
func (c *Connection) identity() Identity {
	id := Identity{Server: c.where(), Account: "no credentials"}
	inCluster, _ := c.inCluster()
	if inCluster {
		id.Context, id.Account = c.kube.names()
	} else if address, local, _ := c.address(); local {
		id.Server, id.Account = "your own server on this machine, "+address, Author()
	}
	account, _ := c.askAs()
	switch {
	case c.tokenFile != "":
		id.Account = "the token in " + c.tokenFile
	case account != "" && inCluster:
		id.Account = "ServiceAccount " + account
	case os.Getenv(tokenVariable) != "":
		id.Account = "the token in " + tokenVariable
	case c.certificate != "":
		id.Account = "the certificate " + c.certificate
	}
	return id
}

// names returns the names of the context and the user that the kubeconfig selects.
func (k *kubeconfigFlags) names() (context, user string) {
	config, err := k.loader().RawConfig()
	if err != nil {
		return k.context, k.user
	}
	context, user = cmp.Or(k.context, config.CurrentContext), k.user
	if of := config.Contexts[context]; user == "" && of != nil {
		user = of.AuthInfo
	}
	return context, user
}

// plugin returns the program that gets the credentials of the user that the kubeconfig selects; empty if there is none, or it never asks.
func (k *kubeconfigFlags) plugin() string {
	config, err := k.loader().RawConfig()
	if err != nil {
		return ""
	}
	_, user := k.names()
	of := config.AuthInfos[user]
	if of == nil || of.Exec == nil || of.Exec.InteractiveMode == clientcmdapi.NeverExecInteractiveMode {
		return ""
	}
	return of.Exec.Command
}
