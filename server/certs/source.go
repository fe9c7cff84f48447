package certs

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"sync"
	"time"

	"k8s.io/klog/v2"
)

// Files names PEM files.
type Files struct {
	// Certificate and PrivateKey belong to the server.
	Certificate, PrivateKey string
	// GetCertificate returns the server's certificate instead of these two files.
	GetCertificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// ClientCA has the authorities of client certificates. If it is empty, client
	// certificates are not requested.
	ClientCA string
}

// Source reads the files again when a connection begins, but at most once per period. It is
// safe for concurrent use.
//
// It does not use pemfile of grpc-go, which does not report that a new file is broken, logs
// the private key in that case, and requires both files in one directory.
type Source struct {
	files  Files
	period time.Duration

	mu      sync.Mutex
	read    time.Time
	good    *tls.Config
	problem error
}

// New reads the files. It returns an error if they cannot be used.
func New(files Files, period time.Duration) (*Source, error) {
	s := &Source{files: files, period: period, read: time.Now()}
	var err error
	s.good, err = files.load()
	return s, err
}

// Config returns a configuration that follows the files.
func (s *Source) Config() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return s.current(), nil },
	}
}

// current returns the configuration from the files or, if they cannot be used, the last good
// one.
func (s *Source) current() *tls.Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.read) < s.period {
		return s.good
	}
	s.read = time.Now()
	fresh, err := s.files.load()
	if err != nil {
		// Log each problem once, not for every connection.
		if s.problem == nil || s.problem.Error() != err.Error() {
			klog.Background().Error(err, "New TLS files rejected; the last good ones stay in effect")
		}
		s.problem = err
		return s.good
	}
	s.good, s.problem = fresh, nil
	return s.good
}

// Ready returns nil: New has read the files.
func (s *Source) Ready() error { return nil }

// Problem returns why the files cannot be used and the last good ones are in effect, nil if
// they can.
func (s *Source) Problem() error {
	s.current()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.problem
}

// Expiry returns when the certificate from the files expires; zero if there is none.
func (s *Source) Expiry() time.Time {
	config := s.current()
	if len(config.Certificates) == 0 {
		return time.Time{}
	}
	return config.Certificates[0].Leaf.NotAfter
}

func (f *Files) load() (*tls.Config, error) {
	config := &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: f.GetCertificate,
		// Verify each connection against the current authorities. Connections are long-lived,
		// so session tickets would gain little.
		SessionTicketsDisabled: true,
	}
	if f.GetCertificate == nil {
		pair, err := tls.LoadX509KeyPair(f.Certificate, f.PrivateKey)
		if err != nil {
			return nil, fmt.Errorf("read the TLS certificate %s and its key %s: %w", f.Certificate, f.PrivateKey, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	if f.ClientCA == "" {
		return config, nil
	}
	authorities, err := os.ReadFile(f.ClientCA)
	if err != nil {
		return nil, fmt.Errorf("read the client authorities: %w", err)
	}
	config.ClientCAs, config.ClientAuth = x509.NewCertPool(), tls.VerifyClientCertIfGiven
	if !config.ClientCAs.AppendCertsFromPEM(authorities) {
		return nil, fmt.Errorf("read the client authorities %s: no certificate in it", f.ClientCA)
	}
	return config, nil
}
