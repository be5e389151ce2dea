/* SPDX-License-Identifier: Apache-2.0 */
/* Methods of a template of classes, also defined after it. */
template <class T, int N> class stack {
  public:
    void push(T t) {
        if (used_ < N) {
            items_[used_++] = t;
        }
    }
    T pop();
    bool empty() const {
        return used_ == 0;
    }

  private:
    T items_[N] = {};
    int used_ = 0;
};
template <class T, int N> T stack<T, N>::pop() {
    --used_;
    return items_[used_];
}
extern "C" int corpus_class_template() {
    stack<int, 2> s;
    s.push(1);
    s.push(2);
    s.push(3);
    int sum = 0;
    while (!s.empty()) {
        sum = sum * 10 + s.pop();
    }
    stack<char, 1> t;
    t.push('a');
    return sum + t.pop();
}
