package pki

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Kubeconfig returns a kubeconfig file for the server, with the authority's
// certificate and the user's credentials embedded.
func Kubeconfig(server, cluster, user string, caCert []byte, credentials Pair) ([]byte, error) {
	config := clientcmdapi.NewConfig()
	config.Clusters[cluster] = &clientcmdapi.Cluster{
		Server:                   server,
		CertificateAuthorityData: caCert,
	}
	config.AuthInfos[user] = &clientcmdapi.AuthInfo{
		ClientCertificateData: credentials.Cert,
		ClientKeyData:         credentials.Key,
	}
	config.Contexts[cluster] = &clientcmdapi.Context{Cluster: cluster, AuthInfo: user}
	config.CurrentContext = cluster
	content, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("encode kubeconfig of %s: %w", user, err)
	}
	return content, nil
}
