package check

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	admissionclient "k8s.io/client-go/kubernetes/typed/admissionregistration/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	autoscalingclient "k8s.io/client-go/kubernetes/typed/autoscaling/v2"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// subject is what is checked, with the answers that several groups need.
type subject struct {
	kube    api
	dynamic dynamic.Interface
	// address is the address of the API server.
	address string
	// namespace and service name the Service of the server.
	namespace, service string
	server             *connect.Connection
	now                time.Time
	// observe is for how long to observe a long queue.
	observe time.Duration

	nodes    []corev1.Node
	nodesErr error

	// deployed is the Service of the server; nil if there is none, or if deployedErr says why it
	// cannot be read.
	deployed    *corev1.Service
	deployedErr error

	// status, table and rules are the server's; nil if it does not answer.
	status    *workloadresizerv1.GetStatusResponse
	table     *workloadresizerv1.ListRatiosResponse
	rules     *workloadresizerv1.ListRatioRulesResponse
	statusErr error
	tableErr  error
	// usage is the state of the sources of usage; nil if usageErr says why it is not known, or if the
	// server does not answer.
	usage    *workloadresizerv1.GetUsageStatusResponse
	usageErr error
}

// newSubject returns a subject without any answers.
func newSubject(server *connect.Connection) (*subject, error) {
	config, err := server.Cluster()
	if err != nil {
		return nil, err
	}
	// The checks make many small requests, and no server shares their limit.
	config.QPS = -1
	s := &subject{server: server, address: config.Host, now: time.Now(), observe: lagOver}
	s.namespace, s.service, err = server.Service()
	if err != nil {
		return nil, err
	}
	if s.kube, err = newAPI(config); err != nil {
		return nil, err
	}
	if s.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("create a client for the API server: %w", err)
	}
	return s, nil
}

// askCluster asks the API server what several groups need.
func (s *subject) askCluster(ctx context.Context) {
	nodes, err := s.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		s.nodesErr = err
		return
	}
	s.nodes = nodes.Items
}

// askServer asks the server what several groups need.
func (s *subject) askServer(ctx context.Context) {
	s.statusErr = s.server.Call(ctx, func(ctx context.Context, c *client.Client) (err error) {
		if s.status, err = c.Status(ctx); err != nil {
			return err
		}
		s.table, s.rules, s.tableErr = c.ListRatiosAndRules(ctx)
		s.usage, s.usageErr = c.GetUsageStatus(ctx)
		return nil
	})
}

// askService asks the API server for the Service of the server.
func (s *subject) askService(ctx context.Context) {
	service, err := s.kube.CoreV1().Services(s.namespace).Get(ctx, s.service, metav1.GetOptions{})
	switch {
	case err == nil:
		s.deployed = service
	case !apierrors.IsNotFound(err):
		s.deployedErr = err
	}
}

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
