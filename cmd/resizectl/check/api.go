package check

import (
	"errors"
	"fmt"

	"k8s.io/client-go/discovery"
	admissionclient "k8s.io/client-go/kubernetes/typed/admissionregistration/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	autoscalingclient "k8s.io/client-go/kubernetes/typed/autoscaling/v2"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// api is the part of kubernetes.Interface that the checks need. The clients of all groups would add
// 8 MB to the program.
type api interface {
	Discovery() discovery.DiscoveryInterfaces
	AdmissionregistrationV1() admissionclient.AdmissionregistrationV1Interface
	AuthorizationV1() authorizationclient.AuthorizationV1Interface
	AutoscalingV2() autoscalingclient.AutoscalingV2Interface
	CoreV1() coreclient.CoreV1Interface
}

// clients is an api of a real API server.
type clients struct {
	discovery     *discovery.DiscoveryClient
	admission     *admissionclient.AdmissionregistrationV1Client
	authorization *authorizationclient.AuthorizationV1Client
	autoscaling   *autoscalingclient.AutoscalingV2Client
	core          *coreclient.CoreV1Client
}

func newAPI(config *rest.Config) (api, error) {
	var g clients
	var errs [5]error
	g.discovery, errs[0] = discovery.NewDiscoveryClientForConfig(config)
	g.admission, errs[1] = admissionclient.NewForConfig(config)
	g.authorization, errs[2] = authorizationclient.NewForConfig(config)
	g.autoscaling, errs[3] = autoscalingclient.NewForConfig(config)
	g.core, errs[4] = coreclient.NewForConfig(config)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("create a client for the API server: %w", err)
	}
	return &g, nil
}

func (g *clients) Discovery() discovery.DiscoveryInterfaces { return g.discovery }

func (g *clients) AdmissionregistrationV1() admissionclient.AdmissionregistrationV1Interface {
	return g.admission
}

func (g *clients) AuthorizationV1() authorizationclient.AuthorizationV1Interface {
	return g.authorization
}

func (g *clients) AutoscalingV2() autoscalingclient.AutoscalingV2Interface { return g.autoscaling }

func (g *clients) CoreV1() coreclient.CoreV1Interface { return g.core }
