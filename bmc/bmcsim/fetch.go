package bmcsim

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
)

// A fetchError says why an image could not be read.
type fetchError struct {
	status int // of the server of images; 0: none came
	err    error
}

func (e *fetchError) Error() string {
	if e.err != nil {
		return e.err.Error()
	}
	return fmt.Sprintf("status %d", e.status)
}

func (e *fetchError) Unwrap() error { return e.err }

// Code is the error's wire name.
func (*fetchError) Code() string { return "UNAVAILABLE" }

// fetch reads an image to its end.
func (b *BMC) fetch(q *request, image string, params map[string]any, m *Medium) error {
	ctx, cancel := context.WithTimeout(q.Context(), b.o.Media.Timeout)
	defer cancel()
	defer context.AfterFunc(b.ctx, cancel)()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, image, nil)
	if err != nil || req.URL.Scheme != "http" && req.URL.Scheme != "https" {
		return &fetchError{err: errors.New("neither http nor https")}
	}
	if user := text(params, "UserName"); user != "" {
		req.SetBasicAuth(user, text(params, "Password"))
	}
	resp, err := b.o.Media.Client.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // without the URL, which may hold a password
		}
		return &fetchError{err: err}
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return &fetchError{status: resp.StatusCode}
	}
	return b.keep(resp.Body, m)
}

// keep counts and hashes an image, and writes it to a file where there is a folder.
func (b *BMC) keep(body io.Reader, m *Medium) (err error) {
	sum := sha256.New()
	to := io.Writer(sum)
	if b.o.Media.Dir != "" {
		f, err := os.CreateTemp(b.o.Media.Dir, "image-*")
		if err != nil {
			return &fetchError{err: err}
		}
		m.File = f.Name()
		to = io.MultiWriter(sum, f)
		defer func() { _ = f.Close() }() // it was synced, or is dropped
	}
	most := b.o.Media.MaxBytes
	n, err := io.Copy(to, io.LimitReader(body, most+1))
	if err == nil && n > most {
		err = fmt.Errorf("larger than %d bytes", most)
	}
	if err != nil {
		file := m.File
		m.File = ""
		return &fetchError{err: errors.Join(err, b.dropImage(Medium{File: file}))}
	}
	m.Fetched, m.Size = true, n
	sum.Sum(m.SHA256[:0])
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stats.Fetched++
	b.stats.FetchedBytes += n
	return nil
}

// fetchFailed tells it the way BMCs do.
func fetchFailed(image string, err error) answer {
	id, message := "CouldNotEstablishConnection", fmt.Sprintf("The service failed to establish a connection with the URI %s: %v.", image, err)
	if e, ok := errors.AsType[*fetchError](err); ok {
		switch e.status {
		case 0:
		case http.StatusUnauthorized, http.StatusForbidden:
			id, message = "ResourceAtUriUnauthorized", fmt.Sprintf("While accessing the resource at %s, the service received an authorization error: %v.", image, err)
		default:
			id, message = "ResourceMissingAtURI", fmt.Sprintf("The resource at the URI %s was not found: %v.", image, err)
		}
	}
	return refuse(http.StatusBadRequest, id, message, image)
}
