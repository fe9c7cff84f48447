package check

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// subject is what is checked, with the answers that several groups need.
type subject struct {
	kube    api
	dynamic dynamic.Interface
	// address is the URL of the API server.
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
